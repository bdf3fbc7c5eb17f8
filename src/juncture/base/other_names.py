"""What users of other libraries call the public names: pgmpy, pyAgrum, bnlearn, hmmlearn, scikit-learn.

A name that `jt` does not have is looked up here, for the sentence "did you mean …?".
"""

from __future__ import annotations

# what is meant → the other names; letters of any case, with underscores or without
# fmt: off
OTHER_NAMES: dict[str, str] = {
    "jt.read": "load loads load_model load_network loadBN open import_bif import_dag read_model read_network read_bif"
    " read_net BIFReader XMLBIFReader XDSLReader NETReader UAIReader from_file",
    "jt.write": "save save_model save_network saveBN dump export write_bif write_net BIFWriter XMLBIFWriter XDSLWriter"
    " NETWriter UAIWriter to_file",
    "jt.example": "get_example_model load_example load_dataset import_example datasets",
    "jt.infer": "query ask inference make_inference predict_proba predict_probability marginal marginals get_posterior"
    " belief cpquery querygrain ApproxInference smooth forward_backward",
    "jt.infer jt.families.posterior": "posterior posteriors",
    "jt.infer jt.most_probable": "predict classify",
    "jt.most_probable": "map map_query mpe decode viterbi mode argmax most_likely max_marginal",
    "jt.sample": "simulate generate generate_sample forward_sample rbn cpdist draw_samples"
    " BayesianModelSampling random_sample",
    "jt.log_prob": "score_samples log_likelihood loglik logpdf log_probability probability likelihood prob"
    " joint_probability get_state_probability",
    "jt.fit": "train bn_fit parameter_learning learn_parameters fit_parameters estimate_parameters baum_welch"
    " MaximumLikelihoodEstimator BayesianEstimator DiscreteMLE partial_fit",
    "jt.fit jt.learn_structure": "learn learner BNLearner",
    "jt.learn_structure": "structure_learning learn_graph learn_network learnBN causal_discovery discover",
    "jt.HillClimbing": "hc HillClimb HillClimbSearch GreedyHillClimbing tabu",
    "jt.ChowLiu": "TreeSearch chow_liu_tree", "jt.TreeAugmented": "TAN tree_bayes", "jt.GES": "fges",
    "jt.ExpectationMaximization": "EM", "jt.ExactSearch": "ExhaustiveSearch",
    "jt.BayesianNetwork": "DiscreteBayesianNetwork BayesianModel BayesNet BN fastBN bayes_network"
    " LinearGaussianBayesianNetwork FunctionalBayesianNetwork BeliefNetwork custom_fit",
    "jt.MarkovNetwork": "MarkovModel DiscreteMarkovNetwork MarkovRandomField MRF",
    "jt.DecisionNetwork": "InfluenceDiagram LIMID", "jt.plate": "DynamicBayesianNetwork DBN",
    "jt.Conditional": "CPD CPT TabularCPD conditional_table conditional_probability_table",
    "jt.LinearGaussian": "LinearGaussianCPD CLG", "jt.NoisyOr": "NoisyORCPD NoisyORModel addNoisyOR",
    "jt.Factor": "DiscreteFactor Potential Tensor", "jt.ConditionalRandomField": "CRF",
    "jt.Variable": "RandomVariable DiscreteVariable LabelizedVariable RangeVariable IntegerVariable Node",
    "jt.DirectedGraph": "DAG Graph DiGraph make_dag model2network", "jt.PartiallyDirectedGraph": "PDAG CPDAG",
    "jt.HiddenMarkovModel": "HMM DiscreteHMM PoissonHMM",
    "jt.LinearGaussianStateSpace": "Kalman KalmanSmoother StateSpace StateSpaceModel KalmanFilter LDS"
    " LinearDynamicalSystem",
    "jt.Gaussian": "Normal", "jt.MultivariateGaussian": "MultivariateNormal MVN", "jt.Categorical": "Discrete",
    "jt.RestrictedBoltzmannMachine jt.estimators.RestrictedBoltzmannMachine": "RBM BernoulliRBM",
    "jt.JunctionTree": "LazyPropagation ShaferShenoyInference clique_tree",
    "jt.JunctionTree jt.LoopyBP": "BeliefPropagation BP", "jt.LoopyBP": "LoopyBeliefPropagation",
    "jt.Gibbs": "GibbsSampling MCMC", "jt.LikelihoodWeighting": "WeightedSampling",
    "jt.RejectionSampling": "MonteCarloSampling", "jt.Enumeration": "brute_force",
    "jt.do": "CausalInference intervene intervention mutilate mutilated mutilateBN",
    "jt.draw": "show show_bn show_inference visualize viz render graphviz_plot to_graphviz plot_network",
    "jt.Dataset": "DataFrame read_csv read_table from_pandas load_data",
    "jt.Discretizer": "discretize KBinsDiscretizer DiscreteTypeProcessor bins",
    "jt.structure.BIC": "BICScore", "jt.BDeu": "BDeuScore", "jt.K2": "K2Score", "jt.structure.AIC": "AICScore",
    "jt.structure.independence_test": "ci_test chi_square",
    "jt.structure.strengths": "bootstrap boot_strength arc_strength averaged_network",
    "jt.structure.compare": "shd compare_networks hamming",
    "jt.structure.compare jt.evaluation.compare_models": "compare",
    "jt.DirectedGraph.is_separated": "dsep d_separated d_separation is_dconnected is_independent",
    "jt.DirectedGraph.markov_blanket": "mb markov_blanket", "jt.DirectedGraph.essential_graph": "EssentialGraph",
    "jt.information.kl_divergence": "kl", "jt.information.mutual_information": "mi mutual_info",
    "jt.estimators.NaiveBayes": "GaussianNB MultinomialNB BernoulliNB CategoricalNB ComplementNB NaiveBayesClassifier",
    "jt.estimators.BayesianNetworkClassifier": "BNClassifier BayesianClassifier Classifier",
    "jt.estimators.MixtureHMM": "GMMHMM", "jt.estimators.CategoricalHMM": "MultinomialHMM",
    "jt.estimators.GaussianMixture": "GMM GaussianMixtureModel", "jt.clusters": "cluster",
    "jt.estimators.RandomForest": "RandomForestClassifier", "jt.estimators.RegressionForest": "RandomForestRegressor",
    "jt.estimators.DecisionTree": "DecisionTreeClassifier", "jt.estimators.RegressionTree": "DecisionTreeRegressor",
    "jt.estimators.BayesianLinearRegression": "BayesianRidge", "jt.supervised.MaximumMargin": "SVC SVM LinearSVC",
    "jt.LatentDirichletAllocation jt.estimators.LinearDiscriminantAnalysis": "LDA",
    "jt.estimators.QuadraticDiscriminantAnalysis": "QDA", "jt.ProbabilisticPCA jt.clusters.principal_components": "PCA",
    "jt.clusters.k_means": "KMeans", "jt.clusters.k_medoids": "KMedoids PAM",
    "jt.clusters.hierarchical_clusters": "AgglomerativeClustering linkage",
    "jt.evaluation.cross_validate": "cross_val_score cross_validation bn_cv",
    "jt.evaluation.hold_out": "train_test_split", "jt.evaluation.make_folds": "KFold StratifiedKFold",
    "jt.evaluation.calibration": "calibration_curve", "jt.evaluation.roc_curve": "roc auc roc_auc_score",
    "jt.evaluation.confusion_matrix": "accuracy accuracy_score classification_report f1_score",
    "jt.evaluation.evaluate_network": "evaluate",
}
# fmt: on
