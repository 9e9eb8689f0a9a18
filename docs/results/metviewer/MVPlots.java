package edu.ucar.metviewer;

import edu.ucar.metviewer.db.AppDatabaseManager;
import edu.ucar.metviewer.db.DatabaseManager;
import java.lang.reflect.Method;

/** Draws the plots of a plot_spec as METviewer's web page does: MVBatch draws boxes, bars and revisions as lines. */
public class MVPlots {
  public static void main(String[] args) throws Exception {
    MVPlotJobParser spec = new MVPlotJobParser(args[0]);
    MVPlotJob[] jobs = spec.getJobsList();
    AppDatabaseManager database = (AppDatabaseManager) DatabaseManager.getAppManager(
        spec.dbManagementSystem, spec.dbHost, spec.dbUser, spec.dbPass, jobs[0].getCurrentDBName().get(0));
    MVBatch batch = new MVBatch(System.out, System.out, System.out, database);
    batch.setPythonEnv(System.getProperty("python.env"));
    batch.setMetCalcpyHome(System.getProperty("metcalcpy.home"));
    batch.setMetPlotpyHome(System.getProperty("metplotpy.home"));
    batch.setRtmplFolder(spec.getRtmplFolder());
    batch.setRworkFolder(spec.getRworkFolder());
    batch.setPlotsFolder(spec.getPlotsFolder());
    batch.setDataFolder(spec.getDataFolder());
    batch.setScriptsFolder(spec.getScriptsFolder());
    Method draw = MVServlet.class.getDeclaredMethod("runTargetedJob", MVPlotJob.class, MVBatch.class);
    draw.setAccessible(true);
    for (MVPlotJob job : jobs) {
      draw.invoke(null, job, batch);
    }
    batch.closeDataSource();
  }
}
